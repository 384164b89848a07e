-- A company's feed of events is pulled: its events are made, changed and taken back as the feed says.

-- A feed needs to name no provider.
alter table events alter column provider_id drop not null;

-- `from_feed`: the feed has it, or had it. Only such an event is taken back, and then it isn't listed; its row and id stay.
alter table events
  add column from_feed boolean not null default false,
  add column taken_back text,
  add constraint events_taken_back_check check (taken_back in ('canceled', 'withdrawn')),
  add constraint events_taken_back_by_feed check (taken_back is null or from_feed);

-- One feed for each company, from its first pull on. `pulls` counts the pulls that were done: of two at once, the one that
-- finds another number than it began with changes nothing.
create table event_feeds (
  company_id integer primary key references companies (id),
  url text not null,
  allows_private boolean not null,
  pulls bigint not null default 1,
  -- What the next pull asks with, and the address that answered it, where a redirect may have led.
  etag text,
  last_modified text,
  answered_by text not null,
  pulled_at timestamptz not null default now(),
  -- The last failure since then.
  failed_at timestamptz,
  failure text,
  constraint event_feeds_failure_check check ((failed_at is null) = (failure is null))
);
