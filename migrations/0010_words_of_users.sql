-- Serves builds from schema version 1 on.

-- The words of a login and a name, by whose beginnings support finds a user among millions. Marks part words, as in addresses:
-- PostgreSQL's parser would take an email address for one word.
create or replace function words_of(login text, name text) returns tsvector
  language sql immutable strict parallel safe
  return to_tsvector('simple', translate(login || ' ' || name, '@.,:;+-_/\()''"&|!<>*', '                    '));

create index if not exists users_by_words on users using gin (words_of(login, name));
