import { StatusBadge, Text } from "@medusajs/ui";
import type { Tile } from "./health-tiles.js";

/** Shows parts of the shop's health side by side. */
export const HealthTiles = ({ tiles }: { tiles: readonly Tile[] }) => (
  <div className="grid grid-cols-1 gap-px sm:grid-cols-2 xl:grid-cols-3">
    {tiles.map((tile) => (
      <HealthTile key={tile.name} {...tile} />
    ))}
  </div>
);

const HealthTile = ({ name, color, label, about, isAwaited = false }: Tile) => (
  <div className={`flex flex-col gap-y-1 px-6 py-4 ${isAwaited ? "col-span-full" : ""}`}>
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
