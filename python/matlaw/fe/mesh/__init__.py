"""Meshes, the generators that make and change them, and the files that hold them."""

from matlaw.fe.mesh.build import build_mesh
from matlaw.fe.mesh.mesh import Mesh

__all__ = ["Mesh", "build_mesh"]
