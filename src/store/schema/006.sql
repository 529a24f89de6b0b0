-- A version that a schema proposal brought has the same policies as the one before it, about other data.
ALTER TABLE policy ADD COLUMN proposal TEXT;
