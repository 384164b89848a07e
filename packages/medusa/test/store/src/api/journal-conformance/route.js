/** Tries the journal that the plugin's module made in this process, on Medusa's own connection. */
async function POST(req, res) {
  const { journalConformance } = await import("@giftcard-pay/checkout/conformance");
  const { journal } = req.scope.resolve("giftcard").engine;
  const results = [];
  for (const { name, run } of journalConformance(() => journal)) {
    const fault = await run().then(
      () => null,
      (error) => error.message,
    );
    results.push({ name, fault });
  }
  res.json(results);
}

module.exports = { POST };
