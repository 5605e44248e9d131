/** The limits of a video model or of a mount. A field without a value is left to the protocol. */
import {
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text
} from "@mantine/core"
import { useTranslation } from "react-i18next"
import { inputRoles } from "../../../../domain/video/families/VideoFamily.ts"
import { Ratio } from "../../../../domain/video/sizes.ts"
import { Resolution } from "../../../../domain/video/tiers.ts"
import type { LimitsText } from "../draft/catalogEntries.ts"

interface Props {
  readonly hint: string
  readonly value: LimitsText | undefined
  readonly onChange: (value: LimitsText | undefined) => void
  /** The fault of a field, by its path in the limits. */
  readonly faultAt: (path: string) => string | undefined
}

interface FieldProps {
  readonly limits: LimitsText
  /** Sets fields; undefined leaves a field to the protocol. */
  readonly change: (
    patch: {
      readonly [Name in keyof LimitsText]?: LimitsText[Name] | undefined
    }
  ) => void
  readonly faultAt: Props["faultAt"]
}

type Seconds = NonNullable<LimitsText["seconds"]>

const secondsKinds = ["protocol", "interval", "list"] as const
type SecondsKind = (typeof secondsKinds)[number]

const kindOf = (seconds: Seconds | undefined): SecondsKind => {
  if (seconds === undefined) return "protocol"
  return "one_of" in seconds ? "list" : "interval"
}

const firstSeconds: Readonly<Record<SecondsKind, Seconds | undefined>> = {
  protocol: undefined,
  interval: [3, 15],
  list: { one_of: [5, 10] }
}

const SecondsFields = ({ limits: { seconds }, change, faultAt }: FieldProps) => {
  const { t } = useTranslation("catalog")
  const bounds = seconds === undefined || "one_of" in seconds ? null : seconds
  return (
    <Group grow align="flex-start">
      <Select
        label={t("limits.seconds")}
        data={secondsKinds.map((kind) => ({ value: kind, label: t(`limits.secondsOf.${kind}`) }))}
        value={kindOf(seconds)}
        error={faultAt("seconds")}
        allowDeselect={false}
        onChange={(picked) => {
          const kind = secondsKinds.find((one) => one === picked)
          if (kind !== undefined) change({ seconds: firstSeconds[kind] })
        }}
      />
      {bounds === null
        ? null
        : (["minSeconds", "maxSeconds"] as const).map((name, index) => (
            <NumberInput
              key={name}
              label={t(`limits.${name}`)}
              min={1}
              allowDecimal={false}
              value={bounds[index] ?? ""}
              error={faultAt(`seconds[${index}]`)}
              onChange={(typed) => {
                if (typeof typed !== "number") return
                const [min, max] = bounds
                change({ seconds: index === 0 ? [typed, max] : [min, typed] })
              }}
            />
          ))}
      {seconds !== undefined && "one_of" in seconds ? (
        <TagsInput
          label={t("limits.listedSeconds")}
          value={seconds.one_of.map(String)}
          error={faultAt("seconds.one_of")}
          onChange={(texts) => {
            const whole = texts.filter((text) => /^\d{1,4}$/.test(text.trim())).map(Number)
            change({ seconds: { one_of: whole } })
          }}
        />
      ) : null}
    </Group>
  )
}

const switches = ["default", "yes", "no"] as const
const switchOf = (value: boolean | undefined) =>
  value === undefined ? "default" : value ? "yes" : "no"

const SwitchFields = ({ limits, change, faultAt }: FieldProps) => {
  const { t } = useTranslation("catalog")
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      {(["smart", "silent", "sound"] as const).map((name) => (
        <Select
          key={name}
          label={t(`limits.${name}`)}
          data={switches.map((value) => ({ value, label: t(`limits.switches.${value}`) }))}
          value={switchOf(limits[name])}
          error={faultAt(name)}
          allowDeselect={false}
          onChange={(picked) =>
            change({ [name]: picked === "default" ? undefined : picked === "yes" })
          }
        />
      ))}
    </SimpleGrid>
  )
}

const ListFields = ({ limits, change, faultAt }: FieldProps) => {
  const { t } = useTranslation("catalog")
  const lists = [
    { name: "resolutions", data: Resolution.literals, value: limits.resolutions },
    { name: "ratios", data: Ratio.literals, value: limits.ratios }
  ] as const
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {lists.map(({ name, data, value = [] }) => (
        <MultiSelect
          key={name}
          label={t(`limits.${name}`)}
          placeholder={value.length === 0 ? t("limits.switches.default") : ""}
          data={[...data]}
          value={[...value]}
          error={faultAt(name)}
          onChange={(picked) => {
            const chosen = data.filter((one) => picked.includes(one))
            change({ [name]: chosen.length === 0 ? undefined : chosen })
          }}
        />
      ))}
    </SimpleGrid>
  )
}

const InputFields = ({ limits: { inputs }, change, faultAt }: FieldProps) => {
  const { t } = useTranslation("catalog")
  return (
    <>
      <Checkbox
        label={t("limits.inputs")}
        description={t("limits.inputsHint")}
        checked={inputs !== undefined}
        onChange={(event) => change({ inputs: event.currentTarget.checked ? {} : undefined })}
      />
      {inputs === undefined ? null : (
        <SimpleGrid cols={{ base: 2, xs: 5 }}>
          {inputRoles.map((role) => (
            <NumberInput
              key={role}
              label={t(`limits.roles.${role}`)}
              min={0}
              allowDecimal={false}
              value={inputs[role] ?? 0}
              error={faultAt(`inputs.${role}`)}
              onChange={(typed) => {
                if (typeof typed === "number") change({ inputs: { ...inputs, [role]: typed } })
              }}
            />
          ))}
        </SimpleGrid>
      )}
    </>
  )
}

export const LimitFields = ({ hint, value, onChange, faultAt }: Props) => {
  const { t } = useTranslation("catalog")
  const limits = value ?? {}
  const change: FieldProps["change"] = (patch) => {
    const entries = Object.entries({ ...limits, ...patch }).filter(([, one]) => one !== undefined)
    onChange(entries.length === 0 ? undefined : Object.fromEntries(entries))
  }
  const props = { limits, change, faultAt }
  return (
    <Stack gap="xs" component="fieldset" style={{ border: 0, padding: 0, margin: 0 }}>
      <Text component="legend" fw={600} size="sm">
        {t("limits.title")}
      </Text>
      <Text size="xs" c="dimmed">
        {hint}
      </Text>
      <SecondsFields {...props} />
      <ListFields {...props} />
      <SwitchFields {...props} />
      <NumberInput
        label={t("limits.max_prompt")}
        placeholder={t("limits.switches.default")}
        min={1}
        allowDecimal={false}
        value={limits.max_prompt ?? ""}
        error={faultAt("max_prompt")}
        onChange={(typed) => change({ max_prompt: typeof typed === "number" ? typed : undefined })}
      />
      <InputFields {...props} />
    </Stack>
  )
}
