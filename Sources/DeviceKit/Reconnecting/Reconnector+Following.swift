public import LineProtocol

extension Reconnector {
    /// Calls `body` with a link to the device, and again with a new one each time that the link is lost, until it returns.
    ///
    /// ```swift
    /// let link = try await LinkSchemes.families.open(endpoint)
    /// try await Reconnector(endpoint, link).follow(link) { link in
    ///     for try await bytes in link.received { print(bytes) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - first: The link that is there. It is closed, as is each that is opened.
    ///   - onLoss: Called when a link was lost and is closed, before the device is waited for.
    ///   - onReturn: Called when the device is back, before `body` has the new link.
    ///   - body: What to do with a link. It throws the `LinkError` of a link that is lost.
    /// - Throws: What `body` throws otherwise; what ``link()`` throws.
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
