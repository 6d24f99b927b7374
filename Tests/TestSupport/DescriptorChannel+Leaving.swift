public import DescriptorIO
internal import Glibc

extension DescriptorChannel {
    /// Closes a socket such that the far end notices immediately: a child that is just being forked has a copy of every
    /// descriptor until exec(2).
    public func leave() {
        try? withDescriptor { _ = shutdown($0, CInt(SHUT_RDWR)) }
        close()
    }
}
