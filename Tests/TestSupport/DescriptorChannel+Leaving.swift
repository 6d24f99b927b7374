public import DescriptorIO
internal import Glibc

extension DescriptorChannel {
    /// Shuts a socket down and closes it, so that the far end notices immediately. Closing alone is not enough: a child
    /// that another test is just starting has a copy of every descriptor until its exec(2).
    public func leave() {
        try? withDescriptor { _ = shutdown($0, CInt(SHUT_RDWR)) }
        close()
    }
}
