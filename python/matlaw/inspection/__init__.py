"""Descriptions of laws, for people and programs. Nothing here needs torch for a compiled law."""
