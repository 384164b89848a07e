import { Badge, StatusBadge, Text, usePrompt } from "@medusajs/ui";
import type { ReactNode } from "react";
import { type HealthView, useHealth, useRecovery, useResumeCancels } from "../client/queries.js";
import { Section, SmallButton } from "./section.js";
import { type BadgeColor, time } from "./texts.js";

/** Beyond this, times in the logs of the two sides can't be compared. */
const CLOCK_LIMIT_MS = 5_000;

/** Shows the service, the key, the clocks, the seals and recovery at a glance. */
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
      {error && <Tile name="Shop" color="red" label="No answer" about={error.message} />}
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
        Automatic cancels have been stopped since {time(stoppedAt)}: too many orders look unpaid at once.
        Waiting: {waiting}.
      </Text>
      <SmallButton isLoading={isPending} onClick={() => void resume()}>
        Let cancels go on
      </SmallButton>
    </div>
  );
}

function Tiles({ health }: { health: HealthView }) {
  const { service, clock, seals, failingJobs, unpaidOrders, regions } = health;
  const { isReachable, isKeyValid, fault, answeredInMs } = service;
  const sealed = Object.entries(seals.counts).map(
    ([keyId, count]) => `${count} under “${keyId}”${keyId === seals.newestKeyId ? " (newest)" : ""}`,
  );
  const aheadMs = Math.max(Math.abs(clock.databaseAheadMs), Math.abs(clock.serviceAheadMs ?? 0));
  const keyLabel = isKeyValid === null ? "Not known" : isKeyValid ? "Valid" : "Refused";
  const keyColor = isKeyValid === null ? "grey" : isKeyValid ? "green" : "red";
  return (
    <div className="grid grid-cols-1 gap-px sm:grid-cols-2 xl:grid-cols-3">
      <Tile
        name="Service"
        color={isReachable ? "green" : "red"}
        label={isReachable ? "Reachable" : "Not reachable"}
        about={isReachable ? `Answered in ${answeredInMs} ms` : faultText(fault)}
      />
      <Tile
        name="API key"
        color={keyColor}
        label={keyLabel}
        about={isKeyValid === false ? "The service refuses it: set a new one" : "Tested with a read"}
      />
      <Tile
        name="Clocks"
        color={aheadMs > CLOCK_LIMIT_MS ? "orange" : "green"}
        label={aheadMs > CLOCK_LIMIT_MS ? "Different" : "In sync"}
        about={`Compared with the shop: database ${ahead(clock.databaseAheadMs)}, service ${
          clock.serviceAheadMs === null ? "not known" : ahead(clock.serviceAheadMs)
        }`}
      />
      <Tile
        name="Sealing keys"
        color={seals.unopenable > 0 ? "red" : "green"}
        label={seals.unopenable > 0 ? `${seals.unopenable} can't be opened` : "All can be opened"}
        about={sealed.length === 0 ? "Nothing is sealed" : sealed.join(", ")}
      />
      <Tile
        name="Recovery"
        color={failingJobs + unpaidOrders > 0 ? "red" : "green"}
        label={
          failingJobs === 0
            ? "Nothing fails"
            : `${failingJobs} ${failingJobs === 1 ? "job fails" : "jobs fail"}`
        }
        about={
          unpaidOrders === 0
            ? "No unpaid order needs a person"
            : `${unpaidOrders} unpaid orders need a person`
        }
      />
      <RegionsTile regions={regions} />
    </div>
  );
}

const NAMES_SHOWN = 4;

function RegionsTile({ regions }: Pick<HealthView, "regions">) {
  const namesOf = (some: typeof regions) => {
    const more = some.length - NAMES_SHOWN;
    const names = some.slice(0, NAMES_SHOWN).map(({ name }) => name);
    return (more > 0 ? [...names, `${more} more`] : names).join(", ");
  };
  const others = namesOf(regions.filter(({ takesGiftcards }) => !takesGiftcards));
  const taking = regions.filter(({ takesGiftcards }) => takesGiftcards);
  if (regions.length === 0)
    return <Tile name="Regions" color="red" label="None in euro" about="Gift cards only pay carts in euro" />;
  return taking.length === 0 ? (
    <Tile
      name="Regions"
      color="red"
      label="None accepts gift cards"
      about={`Settings, Regions: enable “Giftcard” for ${others}`}
    />
  ) : (
    <Tile
      name="Regions"
      color="green"
      label={`Accepted in ${taking.length} of ${regions.length}`}
      about={others === "" ? namesOf(taking) : `Not in ${others}`}
    />
  );
}

const ahead = (ms: number): string => {
  const seconds = (Math.abs(ms) / 1000).toFixed(1);
  return seconds === "0.0" ? "the same" : `${seconds} s ${ms > 0 ? "ahead" : "behind"}`;
};

const faultText = (fault: string | null): string => (fault ?? "no answer").replaceAll("_", " ");

function Tile({
  name,
  color,
  label,
  about,
}: {
  name: string;
  color: BadgeColor;
  label: string;
  about: ReactNode;
}) {
  return (
    <div className="flex flex-col gap-y-1 px-6 py-4">
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
  );
}
