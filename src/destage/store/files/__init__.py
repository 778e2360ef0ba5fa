"""Files of a store: durable writes, digests, records, and where they lie."""
