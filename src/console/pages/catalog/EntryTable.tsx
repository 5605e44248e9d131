/** The entries of one list of the catalog, with the changes of the draft. */
import { ActionIcon, Group, Stack, Text } from "@mantine/core"
import { IconPencil, IconTrash } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { imageAmounts } from "../../../domain/image/imagePrices.ts"
import { lineInWords } from "../../../domain/video/videoPriceTable.ts"
import { type Column, RowTable } from "../../parts/DataTable.tsx"
import { Amount, Id } from "../../parts/texts.tsx"
import { KindBadge } from "./DifferenceTable.tsx"
import type { EntryDifference } from "./draft/catalogDifference.ts"
import {
  type CatalogText,
  type Entry,
  entriesOf,
  keyOf,
  type ListName,
  type PricesText
} from "./draft/catalogEntries.ts"

/** Each amount of a price table, with its name. */
const amountsOf = (prices: PricesText): ReadonlyArray<readonly [name: string, amount: string]> => {
  const priceEntries = (name: string, amount: string | undefined) =>
    amount === undefined ? [] : [[name, amount] as const]
  switch (prices.kind) {
    case "token_video":
      return Object.entries(prices.per_million_tokens).flatMap(([tier, row]) => [
        ...priceEntries(tier, row?.without_video),
        ...priceEntries(`${tier} +`, row?.with_video)
      ])
    case "second_video":
      return Object.entries(prices.per_second).flatMap(([tier, amount]) =>
        priceEntries(tier, amount)
      )
    case "video_table":
      return prices.lines.flatMap((line) => priceEntries(lineInWords(line), line.price))
    case "image":
      return imageAmounts<string>(prices.per_image).flatMap(({ names, amount }) =>
        priceEntries(names.join(" "), amount)
      )
    case "image_tokens":
      return [
        ...priceEntries("↑", prices.per_million_text_input),
        ...priceEntries("↑ image", prices.per_million_image_input),
        ...priceEntries("↑ cache", prices.per_million_cached_input),
        ...priceEntries("↓", prices.per_million_image_output)
      ]
    case "tokens":
      return [
        ...priceEntries("↑", prices.per_million_input),
        ...priceEntries("↓", prices.per_million_output),
        ...priceEntries("↑ cache", prices.per_million_cached_input),
        ...priceEntries("↑ audio", prices.per_million_audio_input),
        ...priceEntries("↓ audio", prices.per_million_audio_output)
      ]
  }
}

const PricesCell = ({
  prices,
  none
}: {
  readonly prices: PricesText | undefined
  readonly none: string
}) => {
  const { t } = useTranslation("catalog")
  if (prices === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {none}
      </Text>
    )
  }
  return (
    <Stack gap={0}>
      <Text size="xs" c="dimmed">
        {t(`prices.unit.${prices.kind === "video_table" ? prices.unit : prices.kind}`)}
      </Text>
      <Group gap="xs">
        {amountsOf(prices).map(([name, amount]) => (
          <Text key={name} size="sm" component="span">
            <Text size="xs" c="dimmed" component="span">
              {name}{" "}
            </Text>
            <Amount value={amount} />
          </Text>
        ))}
      </Group>
    </Stack>
  )
}

/** The columns of one list. */
const useColumns = (document: CatalogText, list: ListName): ReadonlyArray<Column<Entry>> => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const enabled: Column<Entry> = {
    name: "enabled",
    label: t("fields.enabled"),
    cell: (one) =>
      one.list === "models" ? null : shell((one.entry.enabled ?? true) ? "yes" : "no")
  }
  const mounted = (one: Entry): string =>
    document.mounts
      .filter(({ model, channel }) =>
        one.list === "channels"
          ? channel === one.entry.id
          : one.list === "models" && model === one.entry.id
      )
      .map(({ model, channel }) => (one.list === "channels" ? model : channel))
      .join(", ")
  switch (list) {
    case "channels":
      return [
        {
          name: "id",
          label: t("fields.id"),
          cell: (one) => (one.list === list ? <Id id={one.entry.id} whole /> : null)
        },
        {
          name: "name",
          label: t("fields.name"),
          cell: (one) => (one.list === list ? one.entry.name : null)
        },
        {
          name: "address",
          label: t("fields.base_url"),
          cell: (one) =>
            one.list === list ? <span className="id">{one.entry.base_url}</span> : null
        },
        { name: "mounts", label: t("fields.mounts"), cell: mounted },
        enabled
      ]
    case "models":
      return [
        {
          name: "id",
          label: t("fields.id"),
          cell: (one) => (one.list === list ? <Id id={one.entry.id} whole /> : null)
        },
        {
          name: "aliases",
          label: t("fields.aliases"),
          cell: (one) => (one.list === list ? one.entry.aliases?.join(", ") : null)
        },
        {
          name: "modality",
          label: t("fields.modality"),
          cell: (one) => (one.list === list ? one.entry.modality : null)
        },
        {
          name: "protocol",
          label: t("fields.protocol"),
          cell: (one) => (one.list === list ? one.entry.protocol : null)
        },
        {
          name: "prices",
          label: t("fields.prices"),
          cell: (one) =>
            one.list === list ? (
              <PricesCell prices={one.entry.prices} none={t("prices.none")} />
            ) : null
        },
        { name: "mounts", label: t("fields.mountedOn"), cell: mounted },
        {
          name: "owned_by",
          label: t("fields.owned_by"),
          isHidden: true,
          cell: (one) => (one.list === list ? one.entry.owned_by : null)
        },
        {
          name: "input_forms",
          label: t("fields.input_forms"),
          isHidden: true,
          cell: (one) => (one.list === list ? one.entry.input_forms?.join(", ") : null)
        }
      ]
    case "mounts":
      return [
        {
          name: "model",
          label: t("fields.model"),
          cell: (one) => (one.list === list ? <Id id={one.entry.model} whole /> : null)
        },
        {
          name: "channel",
          label: t("fields.channel"),
          cell: (one) => (one.list === list ? <Id id={one.entry.channel} whole /> : null)
        },
        {
          name: "upstream_model",
          label: t("fields.upstream_model"),
          cell: (one) =>
            one.list === list ? (
              <span className="id">{one.entry.upstream_model ?? one.entry.model}</span>
            ) : null
        },
        {
          name: "protocol",
          label: t("fields.overProtocol"),
          isHidden: true,
          cell: (one) => (one.list === list ? (one.entry.protocol ?? shell("none")) : null)
        },
        {
          name: "priority",
          label: t("fields.priority"),
          isNumber: true,
          cell: (one) => (one.list === list ? (one.entry.priority ?? 0) : null)
        },
        {
          name: "weight",
          label: t("fields.weight"),
          isNumber: true,
          cell: (one) => (one.list === list ? (one.entry.weight ?? 1) : null)
        },
        {
          name: "cost",
          label: t("fields.cost"),
          cell: (one) =>
            one.list === list ? (
              <PricesCell prices={one.entry.cost} none={t("prices.noCost")} />
            ) : null
        },
        enabled
      ]
  }
}

interface Props {
  readonly document: CatalogText
  readonly list: ListName
  readonly changed: ReadonlyArray<EntryDifference>
  /** A text that the id or another name of an entry must contain. */
  readonly find: string
  /** The handlers of changes; null for operators who may only read. */
  readonly edit: {
    readonly onEdit: (entry: Entry) => void
    readonly onRemove: (entry: Entry) => void
  } | null
}

/** The other texts by which an entry is found: the name of a channel, the aliases of a model. */
const otherNamesOf = (one: Entry): string => {
  if (one.list === "channels") return one.entry.name
  return one.list === "models" ? (one.entry.aliases ?? []).join(" ") : ""
}

const says = (one: Entry, text: string): boolean =>
  `${keyOf(one)} ${otherNamesOf(one)}`.toLowerCase().includes(text.trim().toLowerCase())

export const EntryTable = ({ document, list, changed, find, edit }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const columns = useColumns(document, list)
  const kinds = new Map(
    changed.filter((one) => one.list === list).map(({ key, kind }) => [key, kind])
  )
  const [first, ...others] = columns
  if (first === undefined) return null
  const all: ReadonlyArray<Column<Entry>> = [
    {
      ...first,
      cell: (one) => {
        const kind = kinds.get(keyOf(one))
        return (
          <Group gap="xs" wrap="nowrap">
            {first.cell(one)}
            {kind === undefined ? null : <KindBadge kind={kind} />}
          </Group>
        )
      }
    },
    ...others,
    ...(edit === null
      ? []
      : [
          {
            name: "actions",
            label: shell("actions"),
            cell: (one: Entry) => (
              <Group gap={4} wrap="nowrap">
                <ActionIcon
                  variant="default"
                  aria-label={t("edit", { key: keyOf(one) })}
                  onClick={() => edit.onEdit(one)}
                >
                  <IconPencil size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="default"
                  aria-label={t("remove", { key: keyOf(one) })}
                  onClick={() => edit.onRemove(one)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
            )
          }
        ])
  ]
  return (
    <RowTable
      label={t(`tabs.${list}`)}
      columns={all}
      rows={entriesOf(document, list).filter((one) => says(one, find))}
      empty={t(`none.${list}`)}
    />
  )
}
