/** A count of the payments that are being released, without those that a person has left as they are. */
export const OPEN_RELEASES = `select count(*) from giftcard_release release where (select count(*) from giftcard_job
  where kind = 'release_payment' and id = release.payment_id and kept_at is not null) = 0`;
