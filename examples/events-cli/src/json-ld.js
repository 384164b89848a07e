/**
 * Events as schema.org's, for a page's `<script type="application/ld+json">`.
 *
 * @param {import("@giftcard-pay/client").Event[]} events
 * @returns {string} JSON that also stands safely between a page's tags
 */
export function jsonLdOf(events) {
  const graph = { "@context": "https://schema.org", "@graph": events.map(eventOf) };
  return JSON.stringify(graph, null, 2).replaceAll("<", "\\u003c");
}

/** Times have no offset, which schema.org reads as the clock at the venue. @param {import("@giftcard-pay/client").Event} event */
function eventOf(event) {
  const end = event.endDate && event.endTime ? `${event.endDate}T${event.endTime}` : event.endDate;
  const images = [event.posterUrl, event.bannerUrl].filter(Boolean);
  return {
    "@type": "Event",
    name: event.title,
    startDate: `${event.date}T${event.time}`,
    ...(end && { endDate: end }),
    ...(event.description && { description: event.description }),
    ...(event.location && { location: { "@type": "Place", address: event.location } }),
    ...(images.length > 0 && { image: images }),
    organizer: { "@type": "Organization", name: event.organiser },
    offers: { "@type": "Offer", url: event.ticketLink },
  };
}
