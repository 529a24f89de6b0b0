//! What actions are called, and which of them the scope of a policy covers.

use cedar_policy_core::ast::{self, ActionConstraint, EntityUID};

/// The type of the product's own actions.
const PRODUCT_ACTION: &str = "Ok::Action";

/// Whether a name is that of one of the company's own actions.
pub fn is_own(action: &str) -> bool {
    action.contains("::")
}

/// `token.issue`, or `Docs::Action::view` for an action of the company's own.
pub(crate) fn name_of(action: &EntityUID) -> String {
    let (kind, id) = (action.entity_type().to_string(), AsRef::<str>::as_ref(action.eid()));
    if kind == PRODUCT_ACTION { id.to_owned() } else { format!("{kind}::{id}") }
}

/// Whether an action scope holds for an action: `==` means the action itself, `in` the members of a group too.
pub(super) fn covers(scope: &ActionConstraint, action: &ast::Entity) -> bool {
    match scope {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(uid) => uid.as_ref() == action.uid(),
        // An action has few groups: to compare them takes less than to hash one.
        ActionConstraint::In(uids) => {
            let mut family = std::iter::once(action.uid()).chain(action.ancestors());
            family.any(|member| uids.iter().any(|uid| uid.as_ref() == member))
        }
    }
}
