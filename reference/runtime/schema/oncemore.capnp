@0xd6a1f0c3b7e24c58;
# What travels between callers and hosts.
#
# Numbers are only ever added. What a reader does not know, it refuses with a clear error and never guesses: a refusal or a
# failure that it cannot read counts as one after which nobody can tell.

interface Host {
  # The first capability of every connection.

  greet @0 (version :UInt16) -> (version :UInt16, host :UInt64);
  # Says which version of this file the caller speaks; the host answers with the one that both will speak, and its own id.

  call @1 (attempt :Attempt) -> (answer :Answer);
  # One attempt of one call.
}

struct Attempt {
  class @0 :Text;
  object @1 :Data;
  # 32 bytes.
  name :union {
    unnamed @2 :Void;
    named @3 :Text;
  }
  header @4 :Header;
  method @5 :Text;
  payload :union {
    arguments @6 :Data;
    # MessagePack, a list with one element for each argument.
    fetch @7 :HttpRequest;
  }
}

struct Header {
  # What an attempt carries besides the request itself (sections 5 and 8).
  ordinal @0 :UInt8;
  retry @1 :Bool;
  address @2 :UInt64;
  unsettled @3 :UInt64;
  identity :union {
    none @4 :Void;
    some @5 :Identity;
  }
}

struct Identity {
  callerHigh @0 :UInt64;
  callerLow @1 :UInt64;
  number @2 :UInt64;
  born @3 :UInt64;
  created @4 :Int64;
  # Nanoseconds since the Unix epoch, by the caller's clock.
}

struct Answer {
  union {
    value @0 :Data;
    # MessagePack: what the method returned.
    response @1 :HttpResponse;
    thrown @2 :Thrown;
    refused @3 :Refusal;
    failed @4 :Failure;
  }
}

struct Thrown {
  # An error of user code (F3).
  kind @0 :Kind;
  error @1 :Data;
  # MessagePack: the error as the method's author typed it.
  message @2 :Text;
}

struct Failure {
  # What went wrong around user code.
  kind @0 :Kind;
  delivery @1 :Delivery;
  reason @2 :Reason;
  message @3 :Text;
}

enum Kind {
  disconnected @0;
  overloaded @1;
  failed @2;
  unimplemented @3;
}

enum Delivery {
  notDelivered @0;
  unknown @1;
  delivered @2;
}

enum Reason {
  unknownClass @0;
  unknownMethod @1;
  malformedArguments @2;
  notHere @3;
  construction @4;
  panicked @5;
  storage @6;
  malformedAttempt @7;
  answerTooLong @8;
  answerUnwritable @9;
}

enum Refusal {
  draining @0;
  elsewhere @1;
  overloaded @2;
  claimed @3;
  doubtful @4;
  settled @5;
  older @6;
  storeFull @7;
  sessionRejected @8;
  sessionMarked @9;
  otherRequest @10;
  claimNotStored @11;
  epochLost @12;
}

struct HttpRequest {
  method @0 :Text;
  uri @1 :Text;
  headers @2 :List(HttpField);
  body @3 :Data;
}

struct HttpResponse {
  status @0 :UInt16;
  headers @1 :List(HttpField);
  body @2 :Data;
}

struct HttpField {
  name @0 :Text;
  value @1 :Data;
}
