"""pagemill report: a run as one HTML file, for a person to look at instead of reading."""
