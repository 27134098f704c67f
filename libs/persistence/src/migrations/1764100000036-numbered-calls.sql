-- The number that the client gave to the call which got a failure. NULL while no failure was delivered: then every equal call
-- joins.
ALTER TABLE unkeyed_call ADD COLUMN attempt integer;
ALTER TYPE admission ADD ATTRIBUTE "attempt" integer;
