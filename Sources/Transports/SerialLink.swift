internal import DescriptorIO
internal import Glibc
internal import LineProtocol

enum SerialLink {
    static func open(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        let fd = Glibc.open(endpoint.address, O_RDWR | O_NOCTTY | O_NONBLOCK)
        return DescriptorLink(DescriptorChannel(taking: fd, kind: .stream, on: loop), name: endpoint.text)
    }
}
