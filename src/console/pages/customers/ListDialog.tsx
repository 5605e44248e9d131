/** A dialog for the price list of an organisation. */
import { Select } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { usePriceLists } from "../priceLists/usePriceLists.ts"

interface Props {
  readonly list: string | null
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (list: string | null) => void
  readonly onClose: () => void
}

export const ListDialog = ({ list, mutation, onSubmit, onClose }: Props) => {
  const { t } = useTranslation("accounts")
  const [choice, setChoice] = useState(list ?? "")
  const { data } = usePriceLists()
  return (
    <ActionDialog
      title={t("setPriceList")}
      action={t("save")}
      mutation={mutation}
      onSubmit={() => onSubmit(choice === "" ? null : choice)}
      onClose={onClose}
    >
      <Select
        label={t("priceList")}
        description={t("priceListHint")}
        searchable
        data={[
          { value: "", label: t("noPriceList") },
          ...(data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
        ]}
        value={choice}
        allowDeselect={false}
        onChange={(value) => setChoice(value ?? "")}
      />
    </ActionDialog>
  )
}
