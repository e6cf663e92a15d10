"""Attention masks in vision transformers."""
