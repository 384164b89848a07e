import type { EndpointName, RequestOf, ResponseOf } from "./endpoints.js";
import { cents } from "./money.js";
import { Secret } from "./secret.js";

// Invented values in the formats that the service issues.
const apiKey = new Secret("k3yOfTheShop".repeat(5));
const companyId = 7;
const card = { cardNumber: new Secret("9528000000000000000"), pin: new Secret("012345") };
const cancelToken = new Secret("c0ffee".repeat(8));
const createdAt = "2030-01-15T09:30:00.000000Z";

/** A request for each operation. */
export const requestExamples: { readonly [N in EndpointName]: RequestOf<N> } = {
  authenticate: {},
  listEvents: { apiKey },
  createEventConcept: { apiKey, representative: "Noor Jansen", register: "Night concerts", providerId: 3 },
  listEventConcepts: { apiKey },
  listProviders: {},
  createEvents: {
    apiKey,
    events: [
      {
        providerId: 3,
        name: "Night concert",
        organiser: "The Hall",
        startDate: "2030-06-01",
        startTime: "20:30:00",
        ticketLink: "https://tickets.example/night-concert",
        buildingName: "The Hall",
        city: "Utrecht",
        country: "Netherlands",
        activated: 1,
        eventKey: "night-concert-2030",
      },
    ],
  },
  balance: { apiKey, companyId, ...card },
  devalue: { apiKey, companyId, ...card, amountCents: cents(7498) },
  cancelDevalue: { apiKey, companyId, cancelToken },
};

/** A response for each operation. */
export const responseExamples: { readonly [N in EndpointName]: ResponseOf<N> } = {
  authenticate: { apiKey },
  listEvents: [
    {
      id: 41,
      companyId,
      bannerUrl: "",
      posterUrl: "https://tickets.example/night-concert.jpg",
      title: "Night concert",
      description: "",
      organiser: "The Hall",
      date: "2030-06-01",
      time: "20:30:00",
      endDate: null,
      endTime: null,
      location: "The Hall, Utrecht, Netherlands",
      ticketLink: "https://tickets.example/night-concert",
      createdAt,
      updatedAt: createdAt,
    },
  ],
  createEventConcept: { id: 12, register: "Night concerts", representative: "Noor Jansen", providerId: 3 },
  listEventConcepts: [
    {
      id: 12,
      representative: "Noor Jansen",
      register: "Night concerts",
      providerId: 3,
      createdAt,
      updatedAt: createdAt,
    },
  ],
  listProviders: [{ id: 3, name: "Tickets Example" }],
  createEvents: [{ message: "Event created", id: 41, title: "Night concert" }],
  balance: {
    success: true,
    balanceCents: cents(7500),
    currency: "EUR",
    cardStatus: "Active",
    expiryDate: "2030-12-31",
  },
  devalue: { success: true, deductedCents: cents(5000), remainderCents: cents(2498), cancelToken },
  cancelDevalue: { success: true, refundedCents: cents(5000), balanceCents: cents(7500) },
};
