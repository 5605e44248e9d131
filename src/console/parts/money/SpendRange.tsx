/** The fields of a spend report's time range and interval. */
import { Select, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { type AddressFilters, optionOf } from "../addressFilters.ts"
import { intervals, ranges } from "./spendPeriods.ts"

export const SpendRange = ({ filters }: { readonly filters: AddressFilters }) => {
  const { t } = useTranslation("money")
  const { get, set } = filters
  const range = optionOf(get("range"), ranges)
  return (
    <>
      <Select
        label={t("spend.range")}
        value={range}
        allowDeselect={false}
        data={ranges.map((value) => ({ value, label: t(`spend.ranges.${value}`) }))}
        onChange={(value) => set({ range: value })}
        w={160}
      />
      {range === "own" ? (
        <>
          {(["from", "to"] as const).map((name) => (
            <TextInput
              key={name}
              type="date"
              label={t(`spend.${name}`)}
              value={get(name)}
              onChange={(event) => set({ [name]: event.currentTarget.value })}
            />
          ))}
          <Select
            label={t("spend.interval")}
            value={optionOf(get("interval"), intervals)}
            allowDeselect={false}
            data={intervals.map((value) => ({ value, label: t(`spend.steps.${value}`) }))}
            onChange={(value) => set({ interval: value })}
            w={120}
          />
        </>
      ) : null}
    </>
  )
}
