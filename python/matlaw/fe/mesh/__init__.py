"""Hexahedral meshes and the generators that make and change them."""

from matlaw.fe.mesh.build import build_mesh
from matlaw.fe.mesh.hexmesh import HexMesh

__all__ = ["HexMesh", "build_mesh"]
