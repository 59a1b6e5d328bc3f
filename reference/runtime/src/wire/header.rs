//! A header as a Cap'n Proto message. A file of its own, so that what is measured beside the runtime writes the same one.

use oncemore_protocol::identity::{Header, Identity};

use crate::oncemore_capnp as schema;

pub(crate) fn write_header(header: &Header, mut message: schema::header::Builder<'_>) {
    message.set_ordinal(header.ordinal.0);
    message.set_retry(header.retry);
    message.set_address(header.address.0);
    message.set_unsettled(header.unsettled.0);
    let mut identity = message.init_identity();
    match &header.identity {
        Some(known) => write_identity(known, identity.init_some()),
        None => identity.set_none(()),
    }
}

fn write_identity(identity: &Identity, mut message: schema::identity::Builder<'_>) {
    let bits = identity.caller.bits();
    message.set_caller_high((bits >> 64) as u64);
    message.set_caller_low(bits as u64);
    message.set_number(identity.number.0);
    message.set_born(identity.born.0);
    message.set_created(identity.created.as_nanos());
}
