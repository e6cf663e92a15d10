"""Results -> one HTML page that needs nothing but itself."""
