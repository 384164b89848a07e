import { Badge, StatusBadge, Text, usePrompt } from "@medusajs/ui";
import { type HealthView, useHealth, useRecovery, useResumeCancels } from "../client/queries.js";
import { Nothing, Section, SmallButton } from "./section.js";
import { type BadgeColor, time } from "./texts.js";

/** Beyond this, times in the logs of the two sides can't be compared. */
const CLOCK_LIMIT_MS = 5_000;

export function HealthSection() {
  const { data, error } = useHealth();
  const { mutate, isPending } = useRecovery();
  return (
    <Section
      level="h1"
      title="Gift cards"
      about={data && `Company ${data.service.companyId} at ${data.service.baseUrl}`}
      actions={
        <>
          {data && <EnvironmentBadge environment={data.environment} />}
          <SmallButton isLoading={isPending} onClick={() => mutate()}>
            Run recovery now
          </SmallButton>
        </>
      }
    >
      {data?.environment === "sandbox" && (
        <Text size="small" className="bg-ui-tag-orange-bg text-ui-tag-orange-text px-6 py-2">
          Sandbox: cards and amounts on this page are for testing. No real money moves.
        </Text>
      )}
      {data?.cancelStop && <CancelsStopped stop={data.cancelStop} />}
      {error && <Nothing>The shop gave no answer: {error.message}</Nothing>}
      {data && <Tiles health={data} />}
    </Section>
  );
}

export function EnvironmentBadge({ environment }: { environment: string }) {
  return environment === "sandbox" ? (
    <Badge size="2xsmall" color="orange">
      Sandbox
    </Badge>
  ) : (
    <Badge size="2xsmall" color="green">
      Live
    </Badge>
  );
}

/** Reports that more orders look unpaid than recovery may cancel without a person. */
function CancelsStopped({ stop: { stoppedAt, waiting } }: { stop: NonNullable<HealthView["cancelStop"]> }) {
  const { mutate, isPending } = useResumeCancels();
  const prompt = usePrompt();
  const resume = async () => {
    const isSure = await prompt({
      title: "Let cancels go on?",
      description:
        `Recovery cancels ${waiting} unpaid orders within a minute. Check some of them first: so many at once may mean that ` +
        "something else is wrong. Your name is recorded with this decision.",
      confirmText: "Let cancels go on",
    });
    if (isSure) mutate();
  };
  return (
    <div className="bg-ui-tag-red-bg text-ui-tag-red-text flex items-center justify-between gap-x-4 px-6 py-2">
      <Text size="small">
        Automatic cancels have been stopped since {time(stoppedAt)}: too many orders look unpaid at once. Waiting:{" "}
        {waiting}.
      </Text>
      <SmallButton isLoading={isPending} onClick={() => void resume()}>
        Let cancels go on
      </SmallButton>
    </div>
  );
}

/** One figure of the health: a name, a colored label and an explanation. */
type Tile = [name: string, color: BadgeColor, label: string, about: string];

function Tiles({ health }: { health: HealthView }) {
  return (
    <div className="grid grid-cols-1 gap-px sm:grid-cols-2 xl:grid-cols-3">
      {tilesOf(health).map(([name, color, label, about]) => (
        <div key={name} className="flex flex-col gap-y-1 px-6 py-4">
          <Text size="small" leading="compact" weight="plus" className="text-ui-fg-subtle">
            {name}
          </Text>
          <StatusBadge color={color} className="self-start">
            {label}
          </StatusBadge>
          <Text size="xsmall" leading="compact" className="text-ui-fg-muted break-words">
            {about}
          </Text>
        </div>
      ))}
    </div>
  );
}

function tilesOf({ service, clock, seals, failingJobs, unpaidOrders, regions, processes }: HealthView): Tile[] {
  const { isReachable, isKeyValid, fault, answeredInMs } = service;
  const sealed = Object.entries(seals.counts).map(
    ([keyId, count]) => `${count} under “${keyId}”${keyId === seals.newestKeyId ? " (newest)" : ""}`,
  );
  const aheadMs = Math.max(Math.abs(clock.databaseAheadMs), Math.abs(clock.serviceAheadMs ?? 0));
  const ofService = clock.serviceAheadMs === null ? "not known" : ahead(clock.serviceAheadMs);
  const clocks = `Compared with the shop: database ${ahead(clock.databaseAheadMs)}, service ${ofService}`;
  const jobs = failingJobs === 1 ? "1 job fails" : failingJobs > 0 ? `${failingJobs} jobs fail` : "Nothing fails";
  const unpaid = unpaidOrders === 0 ? "No unpaid order needs a person" : `${unpaidOrders} unpaid orders need a person`;
  const seal = sealed.length === 0 ? "Nothing is sealed" : sealed.join(", ");
  return [
    isReachable
      ? ["Service", "green", "Reachable", `Answered in ${answeredInMs} ms`]
      : ["Service", "red", "Not reachable", (fault ?? "no answer").replaceAll("_", " ")],
    isKeyValid === false
      ? ["API key", "red", "Refused", "The service refuses it: set a new one"]
      : ["API key", isKeyValid ? "green" : "grey", isKeyValid ? "Valid" : "Not known", "Tested with a read"],
    aheadMs > CLOCK_LIMIT_MS ? ["Clocks", "orange", "Different", clocks] : ["Clocks", "green", "In sync", clocks],
    seals.unopenable > 0
      ? ["Sealing keys", "red", `${seals.unopenable} can't be opened`, seal]
      : ["Sealing keys", "green", "All can be opened", seal],
    ["Recovery", failingJobs + unpaidOrders > 0 ? "red" : "green", jobs, unpaid],
    regionsTile(regions),
    processesTile(processes),
  ];
}

const NAMES_SHOWN = 4;

function regionsTile(regions: HealthView["regions"]): Tile {
  const namesOf = (some: typeof regions) => {
    const more = some.length - NAMES_SHOWN;
    const names = some.slice(0, NAMES_SHOWN).map(({ name }) => name);
    return (more > 0 ? [...names, `${more} more`] : names).join(", ");
  };
  const others = namesOf(regions.filter(({ takesGiftcards }) => !takesGiftcards));
  const taking = regions.filter(({ takesGiftcards }) => takesGiftcards);
  if (regions.length === 0) return ["Regions", "red", "None in euro", "Gift cards only pay carts in euro"];
  if (taking.length === 0)
    return ["Regions", "red", "None accepts gift cards", `Settings, Regions: enable “Giftcard” for ${others}`];
  const about = others === "" ? namesOf(taking) : `Not in ${others}`;
  return ["Regions", "green", `Accepted in ${taking.length} of ${regions.length}`, about];
}

function processesTile({ count, locks, connections, warnings }: HealthView["processes"]): Tile {
  const about = `Lock: ${locks.join(", ") || "not known"}. At most ${connections} database connections`;
  const running = count === 1 ? "1 runs" : `${count} run`;
  if (warnings.length > 0) return ["Medusa processes", "red", running, warnings.join(" ")];
  return ["Medusa processes", "green", running, about];
}

const ahead = (ms: number): string => {
  const seconds = (Math.abs(ms) / 1000).toFixed(1);
  return seconds === "0.0" ? "the same" : `${seconds} s ${ms > 0 ? "ahead" : "behind"}`;
};
