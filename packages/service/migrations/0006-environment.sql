-- What the cards of this database are: real money, or for trying out. The first service that starts on it writes it down.
create table environment (
  is_only boolean primary key default true check (is_only),
  name text not null,
  constraint environment_name_check check (name in ('live', 'sandbox'))
);
