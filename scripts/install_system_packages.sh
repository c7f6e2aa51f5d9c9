#!/bin/sh
# Installs what the build needs from Debian's packages: as root, and only what is missing.
set -eu

missing=""
need() { # need <package> <test command...>
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

need g++ command -v g++
need make command -v make
need nlohmann-json3-dev test -e /usr/include/nlohmann/json.hpp
need libgtest-dev test -e /usr/include/gtest/gtest.h
need git command -v git
# A Python of the system has its venv module and its headers in packages of their own; any other brings both.
python=${PYTHON:-$(command -v python3.11 || command -v python3 || true)}
case "$(readlink -f "${python:-/usr/bin/python3}")" in
/usr/bin/*)
  need python3-venv "${python:-python3}" -c "import ensurepip"
  need python3-dev "${python:-python3}" -c \
    "import sysconfig, os, sys; sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h')))"
  ;;
esac

[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "matlaw needs these Debian packages (or what they hold), and only root can install them:$missing" >&2
  echo "  sudo apt-get install$missing" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing
