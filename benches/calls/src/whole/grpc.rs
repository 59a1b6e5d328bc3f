//! tonic: one unary method, with the code around it that `protoc` would lead to.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_util::future::{BoxFuture, LocalBoxFuture};
use futures_util::{StreamExt, stream};
use hyper_util::rt::TokioIo;
use tonic::body::Body;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::http::{Request as HttpRequest, Response as HttpResponse, Uri};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::server::Connected;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

use super::rival::{self, Failure, TEXT, same};
use super::side::Side;
use super::wire::{Stream, Wire, pair};

#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(string, tag = "1")]
    text: String,
}

#[derive(Clone)]
struct Parrot;

impl UnaryService<Message> for Parrot {
    type Response = Message;
    type Future = Ready<Result<Response<Message>, Status>>;

    fn call(&mut self, request: Request<Message>) -> Self::Future {
        ready(Ok(Response::new(request.into_inner())))
    }
}

impl NamedService for Parrot {
    const NAME: &'static str = "Parrot";
}

impl Service<HttpRequest<Body>> for Parrot {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        // The only method that there is.
        Box::pin(async { Ok(Grpc::new(ProstCodec::<Message, Message>::new()).unary(Self, request).await) })
    }
}

impl Connected for Stream {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

pub(crate) struct Tonic(Channel);

pub(crate) async fn connect(wire: Wire, server: &Side) -> Result<Tonic, Failure> {
    let (ours, theirs) = pair(wire)?;
    server.run(|| async move { theirs.open().map(serve) }).await??;
    let stream = Arc::new(Mutex::new(Some(ours.open()?)));
    let once = service_fn(move |_: Uri| {
        let stream = stream.lock().ok().and_then(|mut stream| stream.take());
        ready(stream.map(TokioIo::new).ok_or_else(|| std::io::Error::other("there is only one connection")))
    });
    Ok(Tonic(Endpoint::from_static("http://parrot").connect_with_connector(once).await?))
}

fn serve(stream: Stream) {
    let incoming = stream::once(async { Ok::<_, Infallible>(stream) }).chain(stream::pending());
    tokio::spawn(Server::builder().serve_with_incoming(Parrot, incoming));
}

impl rival::Echo for Tonic {
    fn echo(&self) -> LocalBoxFuture<'_, Result<(), Failure>> {
        Box::pin(async {
            let mut client = tonic::client::Grpc::new(self.0.clone());
            client.ready().await?;
            let request = Request::new(Message { text: TEXT.to_owned() });
            let codec = ProstCodec::<Message, Message>::new();
            let echoed = client.unary(request, PathAndQuery::from_static("/Parrot/Echo"), codec).await?;
            same(echoed.into_inner().text.as_bytes(), TEXT.as_bytes())
        })
    }
}
