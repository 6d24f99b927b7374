public import LineProtocol

extension Reconnector {
    /// Calls `body` with a link to the device. Whenever the link is lost, waits for the device and calls `body` with a
    /// new link, until `body` returns.
    ///
    /// ```swift
    /// let link = try await LinkSchemes.families.open(endpoint)
    /// try await Reconnector(endpoint, link).follow(link) { link in
    ///     for try await bytes in link.received { print(bytes) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - first: The first link. This method closes it, and every link that it opens later.
    ///   - onLoss: Called when a link is lost and closed, before the wait for the device.
    ///   - onReturn: Called when the device is back, before `body` gets the new link.
    ///   - body: Uses a link, and throws the `LinkError` of a lost link.
    /// - Throws: Other errors of `body`; the errors of ``link()``.
    public func follow(
        _ first: any Link, onLoss: (LinkError) -> Void = { _ in }, onReturn: () -> Void = {},
        _ body: (any Link) async throws -> Void
    ) async throws {
        var link = first
        while true {
            do {
                try await body(link)
                return await link.close()
            } catch let error as LinkError where error.code != .cancelled {
                await link.close()
                onLoss(error)
            } catch {
                await link.close()
                throw error
            }
            link = try await self.link()
            onReturn()
        }
    }
}
