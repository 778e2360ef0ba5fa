"""Data sheets: parts of the catalogue made from the figures of a sheet, and compared with them."""
