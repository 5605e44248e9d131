import { SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { type TextApi, textApis } from "./draft.ts"

interface Props {
  readonly value: TextApi
  readonly onChange: (textApi: TextApi) => void
}

/** The API by which a text is ordered. */
export const TextApiChoice = ({ value, onChange }: Props) => {
  const { t } = useTranslation("playground")
  return (
    <SegmentedControl<TextApi>
      size="xs"
      aria-label={t("textApi")}
      data={textApis.map((api) => ({ value: api, label: t(`textApis.${api}`) }))}
      value={value}
      onChange={onChange}
    />
  )
}
