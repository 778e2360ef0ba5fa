"""YAML and JSON documents: syntax, units, schema trees and validation."""
