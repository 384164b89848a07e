export { type CalendarReadOptions, readICalendar } from "./read-icalendar.js";
