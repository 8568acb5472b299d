-- Serves builds from schema version 1 on.

-- A role for a support desk, between `reads` and `changes`.
alter table operators drop constraint operators_role_check;
alter table operators add constraint operators_role_check check (role in ('reads', 'supports', 'changes', 'destroys'));
