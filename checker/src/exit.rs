//! How the command ends.

use std::process::ExitCode;

/// How the command ends; where several apply, the greatest does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything is as expected.
    #[default]
    AsExpected,
    /// Something was cut short before it could be answered.
    Cut,
    /// Something is not as expected.
    NotAsExpected,
    /// The command line, a scenario or a file is no good, and so nothing was run.
    Unusable,
}

impl Exit {
    /// The status that the shell sees.
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::AsExpected => 0,
            Self::NotAsExpected => 1,
            Self::Unusable => 2,
            Self::Cut => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn what_is_unusable_outweighs_what_is_unexpected_and_that_what_is_cut() {
        let in_order = [Exit::Unusable, Exit::NotAsExpected, Exit::Cut, Exit::AsExpected];
        assert!(in_order.is_sorted_by(|a, b| a > b));
        assert_eq!(in_order.map(Exit::status), [2, 1, 3, 0]);
    }
}
