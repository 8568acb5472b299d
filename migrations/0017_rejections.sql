-- Serves builds from schema version 15 on.
-- A rejection has one name. Builds of before this version use the table by its earlier name, as a view under their own rights; a
-- migration that ends with them drops it.
alter table denials rename to rejections;
alter index denials_pkey rename to rejections_pkey;
alter index denials_expires_at_idx rename to rejections_expires_at_idx;
create view denials with (security_invoker = true) as select code_hash, expires_at from rejections;

do $$
declare
  grantee text;
begin
  for grantee in
    select distinct acl.grantee::regrole::text from pg_class c, aclexplode(c.relacl) acl
     where c.oid = 'rejections'::regclass and acl.grantee not in (0, c.relowner)
  loop
    execute format('grant select, insert, update, delete on denials to %s', grantee);
  end loop;
end
$$;
