\set b random(1, :budgets)
\set a random(1, 8)
\set n random(1, 9)
begin isolation level serializable;
select ((select coalesce(sum(spent), 0) from slice where budget = :b) + :n <= cap)::int as ok from budget where id = :b \gset
\if :ok
update slice set spent = spent + :n where budget = :b and agent = :a;
insert into audit(budget, agent, n, outcome) values(:b, :a, :n, 'approved');
\else
insert into audit(budget, agent, n, outcome) values(:b, :a, :n, 'rejected');
\endif
commit;
