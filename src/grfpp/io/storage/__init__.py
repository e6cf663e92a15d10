"""Files as bytes: packed or not, arrays by name, written whole or not at all."""
