-- Mails that are not about wallets, owners and sign-ins wait in a queue of their own, so that many of them delay no other.
alter table outbox drop constraint outbox_kind_check,
  add constraint outbox_kind_check check (kind in ('alert', 'farewell', 'mail', 'minor_mail', 'recovery'));
