const { AbstractNotificationProviderService, ModuleProvider, Modules } = require("@medusajs/framework/utils");

/** Passes each email to a mail service's HTTP interface, as real providers do. */
class MailProvider extends AbstractNotificationProviderService {
  static identifier = "mail";

  constructor(_, { url }) {
    super();
    this.url = url;
  }

  async send({ to, template, data, content }) {
    const body = JSON.stringify({ to, template, data, content });
    const response = await fetch(this.url, { method: "POST", body });
    if (!response.ok) throw new Error(`the mail service answered ${response.status}`);
    return { id: response.headers.get("x-message-id") };
  }
}

module.exports = ModuleProvider(Modules.NOTIFICATION, { services: [MailProvider] });
