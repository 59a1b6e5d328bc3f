//! What users' statements may not do: end a transaction, touch our tables, or change how the database works.
//!
//! SQLite asks while it prepares a statement, so that views and triggers hide nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Whose statement it is that SQLite prepares or runs now.
///
/// SQLite wants to be able to send it to another thread, which is why it is no `Cell`.
#[derive(Debug, Default)]
pub(super) struct Guard {
    user: AtomicBool,
    refused: Mutex<Option<String>>,
}

/// While this lives, it is so; then it is again as it was before.
pub(super) struct Scope<'a> {
    guard: &'a Guard,
    before: bool,
}

impl Guard {
    pub(super) fn ours(&self) -> Scope<'_> {
        self.scope(false)
    }

    pub(super) fn users(&self) -> Scope<'_> {
        self.refused();
        self.scope(true)
    }

    /// What was refused last, once.
    pub(super) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn scope(&self, user: bool) -> Scope<'_> {
        Scope { guard: self, before: self.user.swap(user, Ordering::Relaxed) }
    }

    fn decide(&self, context: &AuthContext<'_>) -> Authorization {
        if !self.user.load(Ordering::Relaxed) {
            return Authorization::Allow;
        }
        match allowed(&context.action) {
            Ok(()) => Authorization::Allow,
            Err(what) => {
                *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
                Authorization::Deny
            }
        }
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        self.guard.user.store(self.before, Ordering::Relaxed);
    }
}

pub(super) fn install(connection: &mut Connection, guard: &Arc<Guard>) -> rusqlite::Result<()> {
    let guard = Arc::clone(guard);
    connection.authorizer(Some(move |context: AuthContext<'_>| guard.decide(&context)))
}

fn allowed(action: &AuthAction<'_>) -> Result<(), String> {
    use AuthAction as A;
    let unknown = || Err(format!("does something that the runtime does not know ({action:?})"));
    match action {
        A::Select | A::Recursive | A::Function { .. } | A::Analyze { .. } | A::Reindex { .. } => Ok(()),
        A::Read { table_name, .. }
        | A::Insert { table_name }
        | A::Update { table_name, .. }
        | A::Delete { table_name }
        | A::CreateTable { table_name }
        | A::DropTable { table_name }
        | A::AlterTable { table_name, .. }
        | A::CreateVtable { table_name, .. }
        | A::DropVtable { table_name, .. } => not_ours(&[table_name]),
        A::CreateIndex { index_name: name, table_name }
        | A::DropIndex { index_name: name, table_name }
        | A::CreateTrigger { trigger_name: name, table_name }
        | A::DropTrigger { trigger_name: name, table_name } => not_ours(&[name, table_name]),
        A::CreateView { view_name } | A::DropView { view_name } => not_ours(&[view_name]),
        // Full-text search asks for it.
        A::Pragma { pragma_name, pragma_value: None } if pragma_name.eq_ignore_ascii_case("data_version") => Ok(()),
        A::Pragma { pragma_name, .. } => Err(format!("has the pragma {pragma_name}")),
        A::Transaction { .. } | A::Savepoint { .. } => Err("begins or ends a transaction".to_owned()),
        A::Attach { .. } | A::Detach { .. } => Err("rewrites the file, or attaches or detaches one".to_owned()),
        A::CreateTempIndex { .. }
        | A::CreateTempTable { .. }
        | A::CreateTempTrigger { .. }
        | A::CreateTempView { .. }
        | A::DropTempIndex { .. }
        | A::DropTempTable { .. }
        | A::DropTempTrigger { .. }
        | A::DropTempView { .. } => {
            Err("is about something temporary, which would be lost with the object's host".to_owned())
        }
        A::Unknown { .. } => unknown(),
        _ => unknown(),
    }
}

fn not_ours(names: &[&str]) -> Result<(), String> {
    const OURS: &str = "oncemore_";
    let ours = |name: &&&str| name.get(..OURS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OURS));
    match names.iter().find(ours) {
        Some(name) => Err(format!("touches {name}, and names that begin with {OURS} are the runtime's")),
        None => Ok(()),
    }
}
