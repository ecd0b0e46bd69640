-- Where payers ask when their money is stuck, which the checkout shows them.

alter table account_settings
  -- An e-mail address, or the https address of a page as browsers write it: nothing else ever becomes a link.
  add column support_contact text
    check (length(support_contact) <= 300 and (
      support_contact ~ '^[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$'
      or support_contact ~ '^https://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?/[!#-;=?-~]*$'
    ));
