-- 64 budgets, each spent from by 8 agents; an audit record for every decision. :cap is the limit of each budget.
drop table if exists audit, slice, budget;
create table budget(id int primary key, cap bigint not null);
create table slice(budget int, agent int, spent bigint not null, primary key(budget, agent)) with (fillfactor = 50);
create table audit(id bigserial primary key, budget int, agent int, n int, outcome text, time timestamptz default clock_timestamp());
insert into budget select b, :cap from generate_series(1, 64) b;
insert into slice select b, a, 0 from generate_series(1, 64) b, generate_series(1, 8) a;
