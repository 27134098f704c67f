-- without a transaction
-- Usage by a dimension's values reads the days of a month: hundreds of thousands of rows that lie among those of hours.
DROP INDEX CONCURRENTLY IF EXISTS usage_dimension_sum_day;
CREATE INDEX CONCURRENTLY usage_dimension_sum_day ON usage_dimension_sum (workspace_id, dimension, at)
  INCLUDE (value, runs, succeeded, billed_micros) WHERE unit = 'day';
