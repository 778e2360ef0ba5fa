"""What results say, beyond their rows: candidates, calibrations, warnings."""
