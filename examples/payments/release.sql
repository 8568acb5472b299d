-- $1 grant_id, $2 the payment's key
update payments set released_at = statement_timestamp() where grant_id = $1 and key = $2 and released_at is null
