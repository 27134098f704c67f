-- Adds the form of Replicate. The rows that exist satisfy the narrower constraint, so they are not read.
ALTER TABLE webhook DROP CONSTRAINT webhook_form_check;
ALTER TABLE webhook ADD CONSTRAINT webhook_form_check CHECK (form IN ('standard', 'fal', 'replicate')) NOT VALID;
