-- Whoever signed in with a password alone has an earlier sign-in too, when they add the first second factor or change the
-- password: a thief with the password would lock them out otherwise.
alter table people drop constraint people_check1;
alter table people add constraint people_check1 check (earlier_until is null or earlier_totp_secret is not null
  or earlier_passkey_ids is not null or earlier_password_hash is not null);
