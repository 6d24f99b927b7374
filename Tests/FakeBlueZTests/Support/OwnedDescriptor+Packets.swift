import DBus
import Glibc

extension OwnedDescriptor {
    func sendPacket(_ bytes: [UInt8]) { _ = send(number, bytes, bytes.count, CInt(MSG_NOSIGNAL)) }

    /// Waits for the next packet; empty at the end of input, or if none comes within 30 s.
    func nextPacket() -> [UInt8] {
        var state = pollfd(fd: number, events: CShort(POLLIN), revents: 0)
        poll(&state, 1, 30_000)
        var buffer = [UInt8](repeating: 0, count: 600)
        let count = recv(number, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return Array(buffer[..<max(0, count)])
    }

    /// Whether the far end closes within 30 s.
    var isHungUp: Bool {
        var state = pollfd(fd: number, events: 0, revents: 0)
        return poll(&state, 1, 30_000) > 0 && state.revents & CShort(POLLHUP) != 0
    }
}
