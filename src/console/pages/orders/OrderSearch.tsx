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
  readonly acceptsVendorIds: boolean
}

export const OrderSearch = ({ filters, label, acceptsVendorIds }: Props) => {
  const { t } = useTranslation("orders")
  const [, navigate] = useLocation()
  const [text, setText] = useState("")
  const [isInvalid, setIsInvalid] = useState(false)
  const submit = () => {
    const searchText = text.trim()
    const id = searchText.replace(RECEIPT, "")
    if (searchText === "") return
    if (isOrderId(id)) return navigate(`/${id}`)
    const isTag = TAG.test(searchText)
    if (!isTag && !acceptsVendorIds) return setIsInvalid(true)
    filters.replaceAll(isTag ? { tag: searchText } : { upstream_id: searchText })
    setText("")
  }
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <TextInput
          label={label}
          maw={LONGEST}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setIsInvalid(false)
          }}
          error={isInvalid ? t("search.neither") : undefined}
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
