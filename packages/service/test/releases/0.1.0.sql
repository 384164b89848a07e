-- Data of 0.1.0: money, keys and limits in every state. Written once by that release's own code, and never changed. The
-- secrets are in upgrade.test.ts. A trigger computes each balance from the ledger.

insert into environment (name) values ('live');

insert into secret_generations (id, key_check) values
  (1, E'\\x3b519260342b48dcdba9795063ce0e78fdd757cbcebd6d39cba6ae4bdefe164d'),
  (2, E'\\x9ab45733b28e94f0f6f021cefea798ff477db92c6be83ce5156d2c2d7625bfb1');

insert into companies (id, name, closed_at) overriding system value values
  (1, 'A shop', null),
  (2, 'A closed shop', now());

select setval(pg_get_serial_sequence('companies', 'id'), max(id)) from companies;

insert into accounts (id, company_id, email, password_hash, password_generation) overriding system value values
  (1, 1, 'shop@example.nl', 'scrypt$32768$8$3$6zRXTbr-_PYiqRUaQ9xpkw$Xyjxe9H05ic5jf-bY-k5xofAp92vwI1sHbReARjfArM', 1),
  (2, 2, 'closed@example.nl', 'scrypt$32768$8$3$JK_n7bq9JtEZCSKnMODlZA$KlhvyyY8HA0c_yOvlZLqS0F0YNztNxf5TJTP23ili1Q', 1);

select setval(pg_get_serial_sequence('accounts', 'id'), max(id)) from accounts;

insert into api_keys (id, company_id, key_hash, revoked_at) overriding system value values
  (1, 1, E'\\xf04c1124e724a5b133b4ff08658ebbbdf9f37b3b74dde66aed3660b9fdbc5327', null),
  (2, 2, E'\\x31c5ab6111f1d6aa13c2c4e92bb3c0f7c76b61b42d141af1e846eb7f6586a51c', now()),
  (3, 1, E'\\xd7099932aee9729a95a5791d4d53c0b5bdb88da21ebd8b7beb8c4feb7dc3b215', now());

select setval(pg_get_serial_sequence('api_keys', 'id'), max(id)) from api_keys;

insert into providers (id, name) overriding system value values
  (1, 'Tickets');

select setval(pg_get_serial_sequence('providers', 'id'), max(id)) from providers;

insert into event_concepts (id, company_id, provider_id, representative, register) overriding system value values
  (1, 1, 1, 'R', 'C');

select setval(pg_get_serial_sequence('event_concepts', 'id'), max(id)) from event_concepts;

insert into events (id, company_id, provider_id, name, organiser, start_date, start_time, ticket_link, activated, event_key) overriding system value values
  (1, 1, 1, 'Ekept', 'O', '2099-06-01', '20:30:00', 'https://example.nl', 0, 'kept'),
  (2, 1, 1, 'Eswept', 'O', '2099-06-01', '20:30:00', 'https://example.nl', 0, 'swept');

select setval(pg_get_serial_sequence('events', 'id'), max(id)) from events;

insert into cards (id, number_hash, pin_hash, last_four, expiry_date, blocked, generation) overriding system value values
  (1, E'\\x1d9b80562e868a0e420987a273624dd29f6a5d7c06382200ca875ad2c8e83816', E'\\x43a68dbfdfd006618af72b8f551ac7ac71642c864b6815cff992e17a90e4424c', '0001', '2099-12-31', false, 1),
  (2, E'\\x2008da49dd464c5ad29b9fbf9784ac950bde9afd371e5da26c66b43e4fea891b', E'\\x1a0c914af44d3872e308aa1015013fc997f6dde098f87f845addb5dfa75cd99e', '0002', '2099-12-31', true, 1),
  (3, E'\\x756e81e21f48e0c5748733b92cedf93278251636a35847d5195bc85176415d73', E'\\x3e36a2f4361b9fb1f04bdb50a85f2a1314b6ff11a14e42f5892ec97b915a49b7', '0003', '2020-12-31', false, 1),
  (4, E'\\x7ebe06149891971d369b56e9712a6a1cf68f440231cfb0cee9e28bbda0faf0c6', E'\\x0ffebb4cc70d9851fa806d54837980bcd14efdde546549c8c9b97920b6e60dde', '0004', '2099-12-31', false, 1),
  (5, E'\\xb38c32d41c0acbe14873ebca90fcfd17020a707efc15973b5b992d53ce22e479', E'\\x4709618dfabfeb5f1707884b70d21b4ef4905d9ea3b0b55a089df7c971f7a08e', '0005', '2099-12-31', false, 1),
  (6, E'\\x513dc48e9bd925ac3f1929634f1dfb012115eca32dd02110bd1b82a818135eb9', E'\\x181ff4c28661a6ba5f2676a72c5aa9c57d9e1439e1bb09afbce6196d8118aa8d', '0006', '2099-12-31', false, 2);

select setval(pg_get_serial_sequence('cards', 'id'), max(id)) from cards;

insert into ledger (id, card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash, reverses) overriding system value values
  (1, 1, 'issue', 9000, null, null, NULL, NULL, NULL, null),
  (2, 2, 'issue', 7500, null, null, NULL, NULL, NULL, null),
  (3, 3, 'issue', 2500, null, null, NULL, NULL, NULL, null),
  (4, 4, 'issue', 1000, null, null, NULL, NULL, NULL, null),
  (5, 5, 'issue', 500, null, null, NULL, NULL, NULL, null),
  (6, 1, 'devalue', -700, 1, 700, '8d939e9b-2abc-47d8-a696-1ecf6b715dd3', E'\\x2fc4212f7c6c1468323fc4a6ac8223bc', E'\\x2eb468fbf976a6871f372f26639910591d6504a3c32828d1a69c833c9d60cf08', null),
  (7, 1, 'devalue', -300, 1, 300, '6ba76953-5fe2-4771-894a-6288be76b406', E'\\x8222df6009f10c6e481398f09995d69a', E'\\x06638fd21b57403fcefd7757086f983da97943918d70c4c4eba07f5ad8688a38', null),
  (8, 1, 'cancel', 300, 1, null, NULL, NULL, NULL, 7),
  (9, 1, 'devalue', -200, 1, 200, '94566afe-ffbc-44f8-ac02-ca6e5b0de27b', E'\\x85a40854e3a344e199e4bfee6ebdf68c', E'\\xec7ca30cce32977ea220693eaa1e0f4422ae41b45191cfb0b91724bf967be99c', null),
  (10, 1, 'cancel', 200, 1, null, NULL, NULL, NULL, 9),
  (11, 4, 'devalue', -1000, 1, 1000, '38488d62-53f5-4816-b00e-957993ca213d', E'\\x107587ff4ce629747d0839cd9f991e4b', E'\\x3015d1dbd22cdae2985d13a6e6d865f51d9aebd810be0cdd20e7a0fac64560e0', null),
  (12, 6, 'issue', 1500, null, null, NULL, NULL, NULL, null),
  (13, 6, 'devalue', -400, 1, 400, 'f92ecd24-5e4f-4168-92dc-1cc931d920b4', E'\\xbc46b274fbdddb0ef85be6e29b602b24', E'\\x7899b1097da33e219c264544b55cf1d467a5e9e49bdcdf13675c8d04b5dc9a6c', null);

select setval(pg_get_serial_sequence('ledger', 'id'), max(id)) from ledger;

insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, ledger_id, answer) values
  (1, 'devalue', E'\\x12412af2df51a8139b43def759d8624fd80e6102e4e5ccb5e054d0e3572cad9f', E'\\x1c258b96aed11c585e54c1086717b8b36a5eceefcdcd320ead79cade8c78d1d0', 6, NULL),
  (1, 'devalue', E'\\x990c680e09b00bde59d222fe770dfb2a481ea329aec35d0130f228ebf27c6d13', E'\\x6badc8928b949859a2978662bac397fdff9000a54b2255247a30b5b0ee0eb445', 9, NULL),
  (1, 'devalue', E'\\x15160deee5f69997c7f9feae1e1fb8bc91ce01c41539a19df0a19f2a46965b65', NULL, null, NULL),
  (1, 'newevent', E'\\x8304edf16cd8c9c1c154392322ec9e35745c5d8e8c3f820c80444dce32f26bbd', E'\\xf5461d29796997137d3a7bb1db7441a8b841a8898d1a2e4123e4cc93fed507d0', null, '[{"message":"Event created","id":1,"title":"Ekept"}]'),
  (1, 'newevent', E'\\xa5379930f152633164d08ab57118a4a5da08e20431ad392ad17bd7bba5f4efc9', E'\\x232df1723abd7661b668073c599d64b592412773f7ba09095a06819813ae6f2c', null, NULL),
  (1, 'devalue', E'\\x4773cdfaac4a414088f77807f03cb5b145e6cf612221525862b20d66e0b8f7c0', E'\\x563b0c94eddc1a8a9a680a6687b7c8414ba2391303f1243b1f99a13fc5ea2c16', 13, NULL);

insert into failed_attempts (subject, failed_at, lock_count, locked_until, expires_at) values
  (E'\\x51b95aae4ff422a5ca65dbcd450c19d7d27ca48d18e0ec67be75e20a93a06fdb', '{"2026-11-22 00:22:15.357611+00"}', 0, NULL, '2026-11-22 00:37:15.357611+00'),
  (E'\\xb38c32d41c0acbe14873ebca90fcfd17020a707efc15973b5b992d53ce22e479', '{}', 1, '2060-01-01 00:00:00+00', '2060-01-02 00:00:00+00'),
  (E'\\xd31b3327e88ebf706b46e4b7200497ef8af03808f653c3d89c82c48b90b65c2d', '{"2026-11-22 00:22:15.357611+00"}', 0, NULL, '2026-11-22 00:37:15.357611+00');

insert into call_usage (kind, id, slot, granted) values
  ('key', 1, 897653470, '{12,0,0,19,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}');
