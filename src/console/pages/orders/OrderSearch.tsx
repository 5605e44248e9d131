/**
 * A search field for orders: an order's id opens the order, a tag or a vendor's id filters the
 * list.
 */
import { ActionIcon, TextInput } from "@mantine/core"
import { IconSearch } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useLocation } from "wouter"
import { isOrderId } from "../../../domain/orderIds.ts"
import { type OrderFilters, TAG } from "./orderFilters.ts"

const LONGEST = 420
/** The prefix of receipt ids, which is followed by the id of the order. */
const RECEIPT = /^us_/

interface Props {
  readonly filters: OrderFilters
  readonly label: string
  /** Whether a text of any other form is searched as a vendor's id. */
  readonly takesVendorIds: boolean
}

export const OrderSearch = ({ filters, label, takesVendorIds }: Props) => {
  const { t } = useTranslation("orders")
  const [, go] = useLocation()
  const [text, setText] = useState("")
  const [isRefused, setRefused] = useState(false)
  const find = () => {
    const wanted = text.trim()
    const id = wanted.replace(RECEIPT, "")
    if (wanted === "") return
    if (isOrderId(id)) return go(`/${id}`)
    const isTag = TAG.test(wanted)
    if (!isTag && !takesVendorIds) return setRefused(true)
    filters.only(isTag ? { tag: wanted } : { upstream_id: wanted })
    setText("")
  }
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          find()
        }}
      >
        <TextInput
          label={label}
          maw={LONGEST}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setRefused(false)
          }}
          error={isRefused ? t("search.neither") : undefined}
          rightSection={
            <ActionIcon type="submit" variant="subtle" aria-label={t("search.go")}>
              <IconSearch size={18} />
            </ActionIcon>
          }
        />
      </form>
    </search>
  )
}
